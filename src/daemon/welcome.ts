// The words of the first start: one API key, and lines to paste that use it.

/** What is printed once: the secret, and commands for both formats that work when pasted. */
export function welcomeText(url: string, key: string, startingCredits: string, sandbox: boolean): string {
  return `
svc is ready. This is the first start, so a workspace "default" was made, with $${startingCredits} of credits and one API key.
The key is shown this once:

    ${key}

Chat Completions format:

    curl ${url}/v1/chat/completions \\
      -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\
      -d '{"model":"svc:auto","messages":[{"role":"user","content":"Hello"}]}'

Messages format:

    curl ${url}/v1/messages \\
      -H "x-api-key: ${key}" -H "Content-Type: application/json" \\
      -d '{"model":"svc:auto","max_tokens":256,"messages":[{"role":"user","content":"Hello"}]}'

SDKs and tools:

    export OPENAI_BASE_URL=${url}/v1 OPENAI_API_KEY=${key}
    export ANTHROPIC_BASE_URL=${url} ANTHROPIC_API_KEY=${key}
    export SVC_API_KEY=${key}

For usage, keys and credits, make the operator account (the password comes from standard input):

    svc login --email you@example.com --password-stdin --register
${sandbox ? '\nAnswers come from the built-in sandbox. For real models set SVC_UPSTREAM_URL and SVC_UPSTREAM_API_KEY and start again.\n' : ''}
`;
}
