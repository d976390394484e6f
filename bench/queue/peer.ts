import { fork } from 'node:child_process'
import type { PeerAnswer, PeerAsk } from '../peers/graphile.ts'

export type Peer = AsyncDisposable & { ask(ask: PeerAsk): Promise<PeerAnswer> }

/** Starts graphile-worker in a separate process, on the database `url`. */
export async function startPeer(url: string): Promise<Peer> {
  const child = fork(new URL('../peers/graphile.ts', import.meta.url), [url], { stdio: 'inherit' })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const next = () => new Promise((resolve) => child.once('message', resolve))
  await next()
  return {
    async ask(ask) {
      child.send(ask)
      // One request at a time; the peer's program replies.
      return (await next()) as PeerAnswer
    },
    async [Symbol.asyncDispose]() {
      child.kill()
      await ended
    },
  }
}
