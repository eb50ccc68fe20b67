// The virtual models: the names clients ask for and the weights behind each.

import type { Weights } from './decision.ts';

export type Preset = {
  readonly id: string;
  readonly description: string;
  readonly weights: Weights;
};

export const PRESETS: readonly Preset[] = [
  {
    id: 'svc:auto',
    description: 'General purpose: speed, quality and cost count alike.',
    weights: { speed: 50, quality: 50, cost: 50 },
  },
  {
    id: 'svc:fast',
    description: 'Real-time and simple queries: quick and cheap first.',
    weights: { speed: 100, quality: 30, cost: 70 },
  },
  {
    id: 'svc:balanced',
    description: 'Business applications: quality a little ahead of speed and cost.',
    weights: { speed: 50, quality: 60, cost: 50 },
  },
  {
    id: 'svc:best',
    description: 'Complex reasoning and coding: quality first.',
    weights: { speed: 20, quality: 100, cost: 20 },
  },
];

export function presetByModel(id: string): Preset | undefined {
  return PRESETS.find((preset) => preset.id === id);
}

/** True for every name under `svc:`, known or not: no real model is called so. */
export function isVirtual(id: string): boolean {
  return id.startsWith('svc:');
}
