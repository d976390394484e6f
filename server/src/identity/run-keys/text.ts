import { isSameSecret } from '../../kit/same-secret.ts'
import { keyTextPrefix } from '../access/index.ts'

/** What a run key belongs to: a task's execution, or a conversation with all its turns. */
export type RunOf = { kind: 'execution' | 'session'; id: string; agentId: string }

/** A chat's turns share a key, because their process stays alive between them. */
export function runOf(row: {
  id: string
  agent_id: string
  kind: 'chat' | 'task'
  session_id: string | null
}): RunOf {
  const agentId = row.agent_id
  return row.kind === 'chat' && row.session_id !== null
    ? { kind: 'session', id: row.session_id, agentId }
    : { kind: 'execution', id: row.id, agentId }
}

/** A run key without its signature; it identifies the key and is no secret. */
export type RunKeyRef = RunOf & {
  /** Derived from the principal and the agent's own key: a change of either ends the run key. */
  binding: string
}

const prefix = `${keyTextPrefix}run_`
const refPrefix = 'run_'
const part = '[A-Za-z0-9_-]'
const refShape = new RegExp(`^([es])(${part}{1,100})\\.(${part}{1,100})\\.(${part}{22})$`)
const keyShape = new RegExp(`^${prefix}([es]${part}{1,100}\\.${part}{1,100}\\.${part}{22})\\.(${part}{43})$`)

/** True for the form of a run key, signed or not. */
export function isRunKeyText(text: string): boolean {
  return keyShape.test(text)
}

/** Hashes by earlier keys of the installation that are still accepted. */
export type EarlierMacs = (text: string) => readonly string[]

/** `mac` is a keyed hash of the installation: nobody without its key can make a run key. */
export function createRunKeyText(mac: (text: string) => string, earlierMacs: EarlierMacs = () => []) {
  const sign = (body: string) => mac(`key\0${body}`)
  const isSigned = (body: string, signature: string) =>
    [sign(body), ...earlierMacs(`key\0${body}`)].some((each) => isSameSecret(signature, each))
  const bodyOf = ({ kind, id, agentId, binding }: RunKeyRef) =>
    `${kind === 'session' ? 's' : 'e'}${id}.${agentId}.${binding}`

  return {
    binding: (agentKeyId: string, principal: string) =>
      mac(`binding\0${agentKeyId}\0${principal}`).slice(0, 22),
    isBinding(binding: string, agentKeyId: string, principal: string): boolean {
      const text = `binding\0${agentKeyId}\0${principal}`
      return [mac(text), ...earlierMacs(text)].some((each) => isSameSecret(binding, each.slice(0, 22)))
    },
    write(ref: RunKeyRef): string {
      const body = bodyOf(ref)
      return `${prefix}${body}.${sign(body)}`
    },
    /** Returns null for a text that was not made here. */
    read(text: string): RunKeyRef | null {
      const [, body, signature] = keyShape.exec(text) ?? []
      if (!body || !signature || !isSigned(body, signature)) return null
      return readBody(body)
    },
    refText: (ref: RunKeyRef) => refPrefix + bodyOf(ref),
    readRef: (text: string) => (text.startsWith(refPrefix) ? readBody(text.slice(refPrefix.length)) : null),
  }
}

function readBody(body: string): RunKeyRef | null {
  const [, letter, id, agentId, binding] = refShape.exec(body) ?? []
  if (!letter || !id || !agentId || !binding) return null
  return { kind: letter === 's' ? 'session' : 'execution', id, agentId, binding }
}
