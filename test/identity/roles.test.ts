// Roles: the whole table of who may do what.

import { expect, it } from 'vitest';
import { roleAllows } from '../../src/identity/roles.ts';

it.each([
  ['owner', 'read', true],
  ['owner', 'write', true],
  ['owner', 'manage_keys', true],
  ['member', 'read', true],
  ['member', 'write', false],
  ['member', 'manage_keys', true],
  ['viewer', 'read', true],
  ['viewer', 'write', false],
  ['viewer', 'manage_keys', false],
] as const)('a %s asking to %s gets %s', (role, action, allowed) => {
  expect(roleAllows(role, action)).toBe(allowed);
});
