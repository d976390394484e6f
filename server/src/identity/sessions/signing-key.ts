import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { asSealed, type Vault } from '../../foundation/vault/index.ts'
import type { Clock } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import { type Ephemeral, EphemeralDown } from '../../ports/ephemeral/port.ts'
import type { Log } from '../../ports/log.ts'

export type SigningKey = { epoch: string; key: KeyObject }

export type SigningKeys = {
  current(): SigningKey
  /** Called when the processes agree on another key, which voids the tokens of the previous one. */
  onReplaced(listener: () => void): void
  close(): Promise<void>
}

export type SigningKeyDeps = {
  ephemeral: Ephemeral
  /** Encrypts the key before it goes into the ephemeral store. */
  vault: Pick<Vault, 'seal' | 'open'>
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
 * Time for a live process to answer "who is here". Longer if a key is stored, because treating a busy process
 * as dead would end all sessions.
 */
const answerMs = { keyStored: 1_000, noKey: 300 }
/** Longer than an answer takes, so that of two starting processes the second finds the first. */
const lockSeconds = 3
const maxAttempts = 20
/** Time that the start of the platform waits for the store before it continues without. */
const startTimeoutMs = 3_000
const warnAfterFailures = 6

/**
 * Opens the random key that signs sessions, new with each boot, so that a restart ends all sessions. API
 * processes share it through Redis. A starting process adopts a stored key only if a live process answers for
 * it, never one of an ended boot. Without the store each process uses its own key until the store is back.
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
  const queries = new Map<string, { received: boolean; answer(epoch: string): void }>()
  /** Once true, this process answers for its key. */
  let joined = false

  const send = (message: Message) => ephemeral.publish(topic, JSON.stringify(message))
  const read = async () => openKey(deps, await ephemeral.get(keyName))
  /** Stores the key again if the store has lost it. */
  const restoreKey = () => ephemeral.putIfAbsent(keyName, sealKey(deps, held.current()), storedSeconds)

  const receive = async (text: string) => {
    const message: Message = JSON.parse(text)
    const query = 'nonce' in message ? queries.get(message.nonce) : undefined
    if (query && message.say === 'who') query.received = true
    if (query && message.say === 'here') query.answer(message.epoch)
    if (!joined) return
    if (message.say === 'who') {
      await restoreKey()
      await send({ say: 'here', nonce: message.nonce, epoch: held.current().epoch })
    }
    if (message.say === 'new') await agree()
  }

  /** Returns the epoch of a live process; null if none answers in time. Throws if the channel is down. */
  const liveEpoch = async (): Promise<string | null> => {
    const waitMs = (await ephemeral.get(keyName)) === null ? answerMs.noKey : answerMs.keyStored
    const nonce = newId()
    const { promise, resolve } = Promise.withResolvers<string | null>()
    const query = { received: false, answer: resolve }
    queries.set(nonce, query)
    try {
      await send({ say: 'who', nonce })
      const epoch = await Promise.race([promise, clock.wait(waitMs, stopping.signal).then(() => null)])
      if (epoch === null && !query.received)
        throw new EphemeralDown('This process did not receive its own query.')
      return epoch
    } finally {
      queries.delete(nonce)
    }
  }

  const join = async () => {
    for (let attempt = 1; !stopping.signal.aborted; attempt++) {
      const epoch = await liveEpoch()
      const stored = epoch === null ? null : await read()
      if (stored && stored.epoch === epoch) {
        held.use(stored)
        break
      }
      const mayStart = epoch === null && (await ephemeral.putIfAbsent(lockName, '1', lockSeconds))
      if (mayStart || attempt === maxAttempts) {
        await ephemeral.put(keyName, sealKey(deps, held.current()), storedSeconds)
        await send({ say: 'new', epoch: held.current().epoch })
        break
      }
    }
    joined = true
  }

  /** Adopts the stored key: it wins if processes have different keys. */
  const agree = async () => {
    await restoreKey()
    const stored = await read()
    if (stored) held.use(stored)
  }

  /** Aborts the pause between two attempts when the store is back. */
  let retryNow = new AbortController()
  const retryUntilAgreed = async () => {
    for (let failures = 1; !stopping.signal.aborted; failures++) {
      try {
        return await (joined ? agree() : join())
      } catch (error) {
        if (failures === warnAfterFailures)
          log.warn({ err: error }, 'the signing key is not agreed between processes')
      }
      await clock.wait(
        Math.min(100 * 2 ** failures, 5_000),
        AbortSignal.any([stopping.signal, retryNow.signal]),
      )
    }
  }
  let agreeing: Promise<void> | null = null
  const start = () => {
    retryNow.abort()
    retryNow = new AbortController()
    agreeing ??= retryUntilAgreed().finally(() => {
      agreeing = null
    })
    return agreeing
  }

  let subscription: { close(): Promise<void> } | null = null

  return {
    async open() {
      const listen = (text: string) => {
        receive(text).catch((error) =>
          log.warn({ err: error }, 'a message about the signing key could not be handled'),
        )
      }
      subscription = await ephemeral.subscribe(topic, listen, start)
      const joining = new AbortController()
      await Promise.race([
        start(),
        clock.wait(startTimeoutMs, AbortSignal.any([stopping.signal, joining.signal])),
      ])
      joining.abort()
      if (!joined) log.warn({}, 'no shared signing key yet: sessions of this process are valid only here')
    },
    async close() {
      stopping.abort()
      await agreeing
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

/** Returns null without a stored key, or if it was encrypted with another key. */
function openKey({ vault, log }: SigningKeyDeps, sealed: string | null): SigningKey | null {
  if (sealed === null) return null
  try {
    const { epoch, key } = JSON.parse(vault.open(asSealed(sealed), vaultContext))
    return { epoch, key: createSecretKey(Buffer.from(key, 'base64url')) }
  } catch (error) {
    log.warn(
      { err: error },
      'the shared signing key cannot be opened: is the encryption key the same everywhere?',
    )
    return null
  }
}
