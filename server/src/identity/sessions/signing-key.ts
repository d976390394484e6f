import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import type { Clock } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import { type Ephemeral, EphemeralDown } from '../../ports/ephemeral/port.ts'
import type { Log } from '../../ports/log.ts'

export type SigningKey = { epoch: string; key: KeyObject }

export type SigningKeys = {
  current(): SigningKey
  /** The processes agreed on another key: tokens of the one before are void. */
  onReplaced(listener: () => void): void
  close(): Promise<void>
}

export type SigningKeyDeps = {
  ephemeral: Ephemeral
  /** The key lies in the store for short-lived data only under the platform's encryption key. */
  vault: { seal(plaintext: string, context: string): string; open(sealed: string, context: string): string }
  clock: Clock
  log: Pick<Log, 'warn'>
}

type Message =
  | { say: 'who'; nonce: string }
  | { say: 'here'; nonce: string; epoch: string }
  | { say: 'new'; epoch: string }

const topic = 'identity.signing-key'
const keyName = 'identity:signing-key'
const lockName = 'identity:signing-key:lock'
const vaultContext = 'identity.signing-key'
const storedSeconds = 7 * 24 * 3600
/**
 * How long a living process may take to answer "who is here". Longer where a key is stored: taking a busy
 * process for dead would end everybody's session.
 */
const answerMs = { keyStored: 1_000, noKey: 300 }
/** Longer than an answer takes, so that of two starters the second hears the first. */
const lockSeconds = 3
const attempts = 20
/** How long the start of the platform waits for the store before it goes on without. */
const patienceMs = 3_000
/** Failures in a row. */
const toldAfter = 6

/**
 * The key that signs sessions: random, new with each boot of the platform, so that a restart ends all
 * sessions. Several API processes share one through Redis. A starting process adopts the stored key only
 * when a living process answers for it, so what a dead one left behind is never taken up, however quick the
 * restart. Without the store each process signs for itself until the store is back.
 */
export async function openSigningKeys(deps: SigningKeyDeps): Promise<SigningKeys> {
  const listeners: (() => void)[] = []
  let current = newKey()
  if (deps.ephemeral.kind === 'memory') {
    return { current: () => current, onReplaced: () => {}, close: async () => {} }
  }
  const shared = sharedKey(deps, {
    current: () => current,
    use: (key) => {
      if (key.epoch === current.epoch) return
      current = key
      for (const listener of listeners) listener()
    },
  })
  await shared.open()
  return {
    current: () => current,
    onReplaced: (listener) => {
      listeners.push(listener)
    },
    close: shared.close,
  }
}

function sharedKey(deps: SigningKeyDeps, held: { current(): SigningKey; use(key: SigningKey): void }) {
  const { ephemeral, clock, log } = deps
  const stopping = new AbortController()
  const questions = new Map<string, { heard: boolean; answer(epoch: string): void }>()
  /** Only then this process answers for its key. */
  let joined = false

  const say = (message: Message) => ephemeral.publish(topic, JSON.stringify(message))
  const read = async () => openKey(deps, await ephemeral.get(keyName))
  /** For a store that has lost the key. */
  const keep = () => ephemeral.putIfAbsent(keyName, sealKey(deps, held.current()), storedSeconds)

  const hear = async (text: string) => {
    const message: Message = JSON.parse(text)
    const question = 'nonce' in message ? questions.get(message.nonce) : undefined
    if (question && message.say === 'who') question.heard = true
    if (question && message.say === 'here') question.answer(message.epoch)
    if (!joined) return
    if (message.say === 'who') {
      await keep()
      await say({ say: 'here', nonce: message.nonce, epoch: held.current().epoch })
    }
    if (message.say === 'new') await agree()
  }

  /** Null when no living process answers in time, where an answer would have been heard. */
  const whoIsHere = async (): Promise<string | null> => {
    const waitMs = (await ephemeral.get(keyName)) === null ? answerMs.noKey : answerMs.keyStored
    const nonce = newId()
    const { promise, resolve } = Promise.withResolvers<string | null>()
    const question = { heard: false, answer: resolve }
    questions.set(nonce, question)
    try {
      await say({ say: 'who', nonce })
      const epoch = await Promise.race([promise, clock.wait(waitMs, stopping.signal).then(() => null)])
      if (epoch === null && !question.heard) throw new EphemeralDown('The own question was not heard.')
      return epoch
    } finally {
      questions.delete(nonce)
    }
  }

  const join = async () => {
    for (let attempt = 1; !stopping.signal.aborted; attempt++) {
      const epoch = await whoIsHere()
      const stored = epoch === null ? null : await read()
      if (stored && stored.epoch === epoch) {
        held.use(stored)
        break
      }
      const mayStart = epoch === null && (await ephemeral.putIfAbsent(lockName, '1', lockSeconds))
      if (mayStart || attempt === attempts) {
        await ephemeral.put(keyName, sealKey(deps, held.current()), storedSeconds)
        await say({ say: 'new', epoch: held.current().epoch })
        break
      }
    }
    joined = true
  }

  /** Among processes that have a key each, the stored one wins. */
  const agree = async () => {
    await keep()
    const stored = await read()
    if (stored) held.use(stored)
  }

  /** Ends the pause between two tries: the store is back. */
  let hurry = new AbortController()
  const pursue = async () => {
    for (let failures = 1; !stopping.signal.aborted; failures++) {
      try {
        return await (joined ? agree() : join())
      } catch (error) {
        if (failures === toldAfter)
          log.warn({ err: error }, 'the signing key is not agreed between processes')
      }
      await clock.wait(Math.min(100 * 2 ** failures, 5_000), AbortSignal.any([stopping.signal, hurry.signal]))
    }
  }
  let pursuing: Promise<void> | null = null
  const start = () => {
    hurry.abort()
    hurry = new AbortController()
    pursuing ??= pursue().finally(() => {
      pursuing = null
    })
    return pursuing
  }

  let subscription: { close(): Promise<void> } | null = null

  return {
    async open() {
      const listen = (text: string) => {
        hear(text).catch((error) => log.warn({ err: error }, 'a message about the signing key was lost'))
      }
      subscription = await ephemeral.subscribe(topic, listen, start)
      const joining = new AbortController()
      await Promise.race([
        start(),
        clock.wait(patienceMs, AbortSignal.any([stopping.signal, joining.signal])),
      ])
      joining.abort()
      if (!joined) log.warn({}, 'no shared signing key yet: sessions of this process are valid here alone')
    },
    async close() {
      stopping.abort()
      await pursuing
      await subscription?.close()
    },
  }
}

function newKey(): SigningKey {
  return { epoch: newId(), key: createSecretKey(randomBytes(32)) }
}

function sealKey({ vault }: SigningKeyDeps, { epoch, key }: SigningKey): string {
  return vault.seal(JSON.stringify({ epoch, key: key.export().toString('base64url') }), vaultContext)
}

/** Null when there is none, or one that was sealed under another encryption key. */
function openKey({ vault, log }: SigningKeyDeps, sealed: string | null): SigningKey | null {
  if (sealed === null) return null
  try {
    const { epoch, key } = JSON.parse(vault.open(sealed, vaultContext))
    return { epoch, key: createSecretKey(Buffer.from(key, 'base64url')) }
  } catch (error) {
    log.warn(
      { err: error },
      'the shared signing key cannot be opened: is the encryption key the same everywhere?',
    )
    return null
  }
}
