/**
 * Retention: removes the transcripts of old runs, then the runs themselves.
 *
 * Owns no table. Each window is a setting of the platform. A run without its transcript shows everything else. A run is
 * deleted after its loop or fan-out, and never while an open run refers to it. Features on the right remove their own
 * rows with `RunHooks.onRemoving`; texts that only name a run stay.
 */
export { createRunRemoval } from './removal.ts'
export { logRetention, type RunRetentionDeps, runRetention } from './service.ts'
