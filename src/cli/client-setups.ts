// Every client that svc knows how to set up; the README's table is made of these rows.

import { AIDER, CLAUDE_CODE, CLINE, CODEX, CONTINUE, OPENCODE, QWEN_CODE } from './client-agents.ts';
import { AI_SDK, ANTHROPIC, CURL, LANGCHAIN, OPENAI } from './client-libraries.ts';
import type { ClientSetup } from './client-setup.ts';

export const CLIENT_SETUPS: readonly ClientSetup[] = [
  CLAUDE_CODE,
  CODEX,
  OPENCODE,
  QWEN_CODE,
  OPENAI,
  ANTHROPIC,
  AI_SDK,
  LANGCHAIN,
  CONTINUE,
  CLINE,
  AIDER,
  CURL,
];
