// Answers read in tests: every field that some test looks at, so that none needs a cast of its own.

type Model = { id: string; object: string; owned_by: string };
type Candidate = { model: string; score: number; quality: number; speed: number; cost: number };

export type AnyAnswer = {
  type: string;
  request_id: string;
  object: string;
  status: string;
  error: { code: string; message: string; retryable: boolean; type: string; param?: string };
  data: Model[];
  choices: { message: { content: string } }[];
  content: { type: string; text: string }[];
  stop_reason: string;
  account: { role: string };
  workspace: { id: string; name: string };
  token: string;
  granted: string;
  candidates: Candidate[];
  chosen: string;
  classification: { task_type: string };
};

export async function readJson(answer: Response): Promise<AnyAnswer> {
  return (await answer.json()) as AnyAnswer;
}
