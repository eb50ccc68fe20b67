// Collects log lines and writes them together: one system call for many requests, a tenth of a second late at most.

const FLUSH_MS = 100;
const LINES_MAX = 1000;

export interface LineBuffer {
  write(line: string): void;
  flush(): void;
}

export function createLineBuffer(sink: (text: string) => void): LineBuffer {
  let lines: string[] = [];
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (lines.length === 0) return;
    const text = lines.join('');
    lines = [];
    sink(text);
  };
  return {
    write(line) {
      lines.push(line);
      if (lines.length >= LINES_MAX) flush();
      else timer ??= setTimeout(flush, FLUSH_MS).unref();
    },
    flush,
  };
}
