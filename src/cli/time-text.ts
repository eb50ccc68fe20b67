// Points in time as people give and read them: `7d`, `2026-01-31`, RFC 3339.

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};
const LENGTH = /^(\d{1,6})([smhdw])$/;
const DATE_OR_TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/;

/**
 * The RFC 3339 UTC time that `text` means: a length (`30m`, `24h`, `7d`, `4w`) before or after `now`, or a date or
 * time as it stands (a date is its midnight UTC). `undefined` where it is none of these.
 */
export function parseTime(text: string, now: Date, direction: 'past' | 'future'): string | undefined {
  const length = LENGTH.exec(text);
  if (length !== null) {
    const ms = Number(length[1]) * (UNIT_MS[length[2] ?? ''] ?? 0);
    return isoOf(now.getTime() + (direction === 'past' ? -ms : ms));
  }
  return DATE_OR_TIME.test(text) ? isoOf(Date.parse(text)) : undefined;
}

/** `2026-01-31 14:05:09`, in UTC as everywhere in svc. */
export function timeText(rfc3339: string): string {
  const match = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})/.exec(rfc3339);
  return match === null ? rfc3339 : `${match[1]} ${match[2]}`;
}

/** How long ago, in its largest whole unit: `3h`. Empty where the time can't be read. */
export function ageText(rfc3339: string, now: Date): string {
  const ms = now.getTime() - Date.parse(rfc3339);
  if (!Number.isFinite(ms)) return '';
  for (const unit of ['d', 'h', 'm']) {
    const size = UNIT_MS[unit] ?? 1;
    if (ms >= size) return `${Math.floor(ms / size)}${unit}`;
  }
  return `${Math.max(0, Math.floor(ms / 1_000))}s`;
}

function isoOf(ms: number): string | undefined {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
