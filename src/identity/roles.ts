// Roles of a member in a workspace, and what each may do.

export const ROLES = ['owner', 'member', 'viewer'] as const;
export type Role = (typeof ROLES)[number];

export type Action = 'read' | 'write' | 'manage_keys';

const ALLOWED: Readonly<Record<Role, readonly Action[]>> = {
  owner: ['read', 'write', 'manage_keys'],
  member: ['read', 'manage_keys'],
  viewer: ['read'],
};

export function roleAllows(role: Role, action: Action): boolean {
  return ALLOWED[role].includes(action);
}
