import type { HistoryEntry, HistoryRules } from '@roost/contracts/link/history'
import { type RestoreTarget, restorePageEntries, restorePieces } from '@roost/contracts/link/history-restore'
import type { PlatformCalls } from '@roost/contracts/link/messages'
import { isObject, type Json, listAt, numberAt, objectAt, textAt } from '../kit/json.ts'
import { LinkFault } from '../link/link.ts'
import type { RestorePiece, Restores } from './restore.ts'

type RestoreCall = Extract<keyof PlatformCalls, `history.restore.${string}`>
type Handlers = { [T in RestoreCall]: (message: Json) => Promise<PlatformCalls[T]['answer']> }

/** Handles the requests of a restore. `restores` is loaded at first use. */
export function createRestoreCalls(restores: () => Promise<Restores>): Handlers {
  const ok = { ok: true } as const
  return {
    'history.restore.open': async (message) =>
      (await restores()).open(id(message), texts(message, 'paths'), rulesOf(objectAt(message, 'rules'))),
    async 'history.restore.target'(message) {
      const entries = list(message, 'entries', restorePageEntries).map(targetOf)
      await (await restores()).target(id(message), entries, texts(message, 'left_out'))
      return ok
    },
    async 'history.restore.compare'(message) {
      await (await restores()).compare(id(message))
      return ok
    },
    'history.restore.look': async (message) => (await restores()).look(id(message)),
    'history.restore.changes': async (message) =>
      (await restores()).changes(id(message), count(message, 'offset')),
    'history.restore.needs': async (message) =>
      (await restores()).needs(id(message), count(message, 'offset')),
    async 'history.restore.write'(message) {
      await (await restores()).write(id(message), list(message, 'pieces', restorePieces).map(pieceOf))
      return ok
    },
    async 'history.restore.apply'(message) {
      await (await restores()).apply(id(message), message.overwrite === true)
      return ok
    },
    async 'history.restore.close'(message) {
      await (await restores()).close(id(message))
      return ok
    },
  }
}

function rulesOf(rules: Json): HistoryRules {
  return { patterns: texts(rules, 'patterns'), max_file_bytes: count(rules, 'max_file_bytes') }
}

function targetOf(value: unknown): RestoreTarget {
  if (!isObject(value)) return invalid('entries')
  return {
    path: textAt(value, 'path') ?? invalid('path'),
    kind: kindOf(value.kind),
    mode: count(value, 'mode'),
    owner: value.owner === true,
    sparse: value.sparse === true,
    content: textAt(value, 'content') ?? invalid('content'),
    known: value.known === true,
  }
}

function kindOf(value: unknown): HistoryEntry['kind'] {
  return value === 'file' || value === 'folder' || value === 'link' ? value : invalid('kind')
}

function pieceOf(value: unknown): RestorePiece {
  if (!isObject(value)) return invalid('pieces')
  return {
    content: textAt(value, 'content') ?? invalid('content'),
    offset: count(value, 'offset'),
    bytes: Buffer.from(textAt(value, 'data_base64') ?? invalid('data_base64'), 'base64'),
    last: value.last === true,
  }
}

function id(message: Json): string {
  return textAt(message, 'restore_id') ?? invalid('restore_id')
}

function texts(message: Json, key: string): string[] {
  return listAt(message, key).map((each) => (typeof each === 'string' ? each : invalid(key)))
}

function list(message: Json, key: string, max: number): unknown[] {
  const found = listAt(message, key)
  return found.length <= max ? found : invalid(key)
}

function count(message: Json, key: string): number {
  const value = numberAt(message, key)
  return value !== null && Number.isSafeInteger(value) && value >= 0 ? value : invalid(key)
}

function invalid(key: string): never {
  throw new LinkFault('invalid_message', `The field "${key}" is missing or invalid.`)
}
