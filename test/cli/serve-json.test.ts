// The object that `svc serve --json` makes of the daemon's text.

import { describe, expect, it } from 'vitest';
import { jsonStart } from '../../src/cli/commands/serve.ts';
import { welcomeText } from '../../src/daemon/welcome.ts';

const URL = 'http://127.0.0.1:4747';
const KEY = `svc_sk_${'a'.repeat(49)}`;
const LISTENS = `svc 0.1.0 listens on ${URL} (upstream: sandbox, data: /a b/(c))\n`;

/** What is written when `parts` are said. */
const written = (...parts: readonly string[]): readonly unknown[] => {
  const values: unknown[] = [];
  const say = jsonStart((value) => values.push(value));
  for (const part of parts) say(part);
  return values;
};

describe('svc serve --json', () => {
  const started = { url: URL, upstream: 'sandbox', data_directory: '/a b/(c)' };

  it('writes one object once the daemon listens', () => {
    expect(written(LISTENS, LISTENS, 'more\n')).toEqual([started]);
    expect(written(LISTENS.slice(0, 30), LISTENS.slice(30))).toEqual([started]);
    expect(written('something else\n')).toEqual([]);
  });

  it('has the key of a first start in it', () => {
    expect(written(welcomeText(URL, KEY, '10', true), LISTENS)).toEqual([{ ...started, api_key: KEY }]);
  });
});

describe('the welcome', () => {
  it('says how to use the key with svc and how to make the operator account, with two curl commands', () => {
    const text = welcomeText(URL, KEY, '10', false);
    expect(text).toContain(`export SVC_API_KEY=${KEY}\n`);
    expect(text).toContain('svc login --email you@example.com --password-stdin --register\n');
    expect(text.match(/curl /g)).toHaveLength(2);
  });
});
