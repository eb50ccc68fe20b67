// Points in time as people give and read them.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ageText, parseTime, timeText } from '../../src/cli/time-text.ts';

const NOW = new Date('2026-01-10T12:00:00.000Z');

describe('parseTime', () => {
  it.each([
    ['90s', '2026-01-10T11:58:30.000Z'],
    ['30m', '2026-01-10T11:30:00.000Z'],
    ['24h', '2026-01-09T12:00:00.000Z'],
    ['7d', '2026-01-03T12:00:00.000Z'],
    ['2w', '2025-12-27T12:00:00.000Z'],
    ['2026-01-01', '2026-01-01T00:00:00.000Z'],
    ['2026-01-01T10:00Z', '2026-01-01T10:00:00.000Z'],
    ['2026-01-01T10:00:00+02:00', '2026-01-01T08:00:00.000Z'],
    ['2026-01-01T10:00:00.5Z', '2026-01-01T10:00:00.500Z'],
  ])('reads %j', (text, expected) => {
    expect(parseTime(text, NOW, 'past')).toBe(expected);
  });

  it('counts lengths forward where they are for the future', () => {
    expect(parseTime('90d', NOW, 'future')).toBe('2026-04-10T12:00:00.000Z');
  });

  it.each(['', '7', 'd', '7 d', '-7d', '1.5h', '7y', 'yesterday', '2026-13-01', '2026-01-01T10:00', '01/02/2026'])(
    'refuses %j',
    (text) => {
      expect(parseTime(text, NOW, 'past')).toBeUndefined();
    },
  );

  it('never throws, whatever it is given', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^\d{1,6}[smhdw]$/)), (text) => {
        const time = parseTime(text, NOW, 'past');
        if (time !== undefined) expect(new Date(time).toISOString()).toBe(time);
      }),
    );
  });
});

describe('timeText', () => {
  it('drops what makes a time hard to read', () => {
    expect(timeText('2026-01-03T10:11:12.345Z')).toBe('2026-01-03 10:11:12');
    expect(timeText('whenever')).toBe('whenever');
  });
});

describe('ageText', () => {
  it.each([
    ['2026-01-10T11:59:30Z', '30s'],
    ['2026-01-10T11:58:00Z', '2m'],
    ['2026-01-10T09:00:00Z', '3h'],
    ['2026-01-01T00:00:00Z', '9d'],
    ['2026-01-10T12:00:05Z', '0s'],
    ['whenever', ''],
  ])('of %j is %j', (time, expected) => {
    expect(ageText(time, NOW)).toBe(expected);
  });
});
