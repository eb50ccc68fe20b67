// The environment of every client: a HOME of its own, nothing of the developer's, no telemetry and no way out.

import { join } from 'node:path';

/** Refuses at once: a client that needs anything but loopback fails rather than reach it. */
const NOWHERE = 'http://127.0.0.1:9';

export function quietEnv(home: string): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    USERPROFILE: home,
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_DATA_HOME: join(home, '.local', 'share'),
    XDG_STATE_HOME: join(home, '.local', 'state'),
    XDG_CACHE_HOME: join(home, '.cache'),
    HTTP_PROXY: NOWHERE,
    HTTPS_PROXY: NOWHERE,
    http_proxy: NOWHERE,
    https_proxy: NOWHERE,
    NO_PROXY: '127.0.0.1,localhost',
    no_proxy: '127.0.0.1,localhost',
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    NO_COLOR: '1',
    CI: '1',
    DO_NOT_TRACK: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_AUTOUPDATER: '1',
    OTEL_SDK_DISABLED: 'true',
    LANGSMITH_TRACING: 'false',
    AI_SDK_LOG_WARNINGS: 'false',
  };
}
