// The exit codes of every command.

export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  notAllowed: 3,
  notFound: 4,
  unreachable: 5,
  noCredits: 6,
  daemonStart: 69,
  alreadyRunning: 75,
  permissions: 77,
  badState: 78,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
