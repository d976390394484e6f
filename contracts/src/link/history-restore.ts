/**
 * Brings paths of a workspace back to a record. The platform opens a restore, sends what the record has, and asks for
 * the comparison. Then it sends the missing contents and applies the restore, or closes it after the preview. Long work
 * goes on between the calls; `history.restore.look` waits for it.
 *
 * Until `applying` the workspace is unchanged. From then on the agent's program completes the restore, also after it
 * was killed. Names are bytes as characters (latin1).
 */
import type { HistoryEntry, HistoryRules } from './history.ts'

/** Entries in one `history.restore.target` and in one page of an answer; names may need six bytes per character. */
export const restorePageEntries = 4000
export const restorePageCharacters = 500_000
/** Contents in one `history.restore.write`, and their bytes before base64. */
export const restorePieces = 500
export const restorePieceBytes = 1024 * 1024
/** Conflicts that are named; further ones are counted. */
export const maxNamedConflicts = 100

export type RestoreTarget = Omit<HistoryEntry, 'size'> & {
  /** SHA-256 of the content or of a link's target, in the form of git's objects; empty for folders. */
  content: string
  /** The record `base` has the same content at this path. */
  known: boolean
}

/**
 * Why a restore leaves a path as it is. `left_out`: it, or something in it, is not part of records. `occupied`:
 * something new is in the way. `denied`: it belongs to another user. `elsewhere`: it is on another file system.
 */
export const restoreConflictReasons = ['left_out', 'occupied', 'denied', 'elsewhere'] as const
export type RestoreConflictReason = (typeof restoreConflictReasons)[number]
export type RestoreConflict = { path: string; reason: RestoreConflictReason }

/** `attributes`: permissions or owner. An entry that becomes another kind is deleted and added. */
export const restoreChangeKinds = ['added', 'changed', 'attributes', 'deleted'] as const
export type RestoreChange = {
  path: string
  kind: HistoryEntry['kind']
  change: (typeof restoreChangeKinds)[number]
}

/**
 * `unknown`: it has not begun to change anything, or another restore was opened since. `opened`: waits for the target. `failed` and `discarded`: the
 * workspace is as it was. `moved`: it is as it was too, because it changed after the comparison. `restored`: it is as
 * in the record, except for the conflicts. `applying` with a fault: it is completed at the next try.
 */
export const restoreStates = [
  'unknown',
  'opened',
  'comparing',
  'compared',
  'applying',
  'restored',
  'moved',
  'failed',
  'discarded',
] as const
export type RestoreState = (typeof restoreStates)[number]

/** Ends an earlier restore that was not applied. `paths`: the empty path means everything. */
export type RestoreOpen = {
  t: 'history.restore.open'
  restore_id: string
  paths: string[]
  /** Those of the record and the current ones: what either leaves out is not touched. */
  rules: HistoryRules
}
/** `base`: the record with which the agent can compare without reading every file; null for none. */
export type RestoreOpenAnswer = { base: string | null }
/** Folders come before their content. Entries above the selected paths are only created if they are missing. */
export type RestoreTargets = {
  t: 'history.restore.target'
  restore_id: string
  entries: RestoreTarget[]
  /** Paths that the record left out. */
  left_out: string[]
}
export type RestoreCompare = { t: 'history.restore.compare'; restore_id: string }
/** Answers when the state is no longer `comparing` or `applying`, or after a few seconds. */
export type RestoreLook = { t: 'history.restore.look'; restore_id: string }
export type RestoreLookAnswer = {
  state: RestoreState
  fault: string | null
  added: number
  changed: number
  attributes: number
  deleted: number
  conflicts: RestoreConflict[]
  conflict_count: number
}
/** A page of the preview. */
export type RestoreChanges = { t: 'history.restore.changes'; restore_id: string; offset: number }
export type RestoreChangesAnswer = { changes: RestoreChange[]; total: number }
/** A page of the contents that the workspace does not have, each with one of its paths. */
export type RestoreNeeds = { t: 'history.restore.needs'; restore_id: string; offset: number }
export type RestoreNeedsAnswer = { needs: { content: string; path: string }[]; total: number }
/** `offset` must be the end of the content's previous piece. */
export type RestoreWrite = {
  t: 'history.restore.write'
  restore_id: string
  pieces: { content: string; offset: number; data_base64: string; last: boolean }[]
}
/** With `overwrite` it does not matter whether the workspace changed after the comparison. */
export type RestoreApply = { t: 'history.restore.apply'; restore_id: string; overwrite: boolean }
/** Discards a restore that is not applied. */
export type RestoreClose = { t: 'history.restore.close'; restore_id: string }
