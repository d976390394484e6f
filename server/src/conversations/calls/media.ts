import type { RawData, WebSocket } from 'ws'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { MediaFrame, Telephony } from '../../ports/telephony/port.ts'
import { leaseSeconds } from './session.ts'
import { createFrames, type Line, mostUnsent } from './sound.ts'
import { type CallRow, callStore } from './store.ts'
import { hashOf } from './ticket.ts'

export type MediaDeps = {
  db: Db
  clock: Clock
  log: Log
  telephony: Pick<Telephony, 'readFrame'>
  carry(call: CallRow, line: Line): Promise<void>
}

/** The provider says which call it is right after it has opened the socket. */
const startSeconds = 10
const closeCodes = { done: 1000, notTheProtocol: 1008, badTicket: 4001 } as const

type Started = Extract<MediaFrame, { type: 'start' }>

/** Sockets over which the sound of calls comes. A ticket lets one in, once. */
export function createMedia({ db, clock, log, telephony, carry }: MediaDeps) {
  const store = callStore(db)
  /** Ends the sound of each call that is carried here. */
  const carried = new Map<string, (how: 'hung_up' | 'lost') => void>()
  const busy = new Set<Promise<void>>()

  async function serve(callId: string, socket: WebSocket): Promise<void> {
    const wire = listen(socket, telephony)
    const waited = new AbortController()
    const late = clock.wait(startSeconds * 1000, waited.signal).then(() => null)
    const start = await Promise.race([wire.started, late])
    waited.abort()
    const call = start && (await connect(callId, start))
    if (!start || !call) return socket.close(closeCodes.badTicket, 'the ticket is not good')
    const close = () => socket.close(closeCodes.done)
    carried.set(call.id, wire.end)
    try {
      await carry(call, { ...wire.line, streamId: start.streamId, close })
    } finally {
      carried.delete(call.id)
    }
  }

  async function connect(callId: string, { ticket, providerCallId }: Started): Promise<CallRow | null> {
    if (ticket === null) return null
    const now = clock.now()
    return store.connect(callId, hashOf(ticket), {
      at: timestamp(now),
      deadline_at: timestamp(secondsLater(now, leaseSeconds)),
      provider_call_id: providerCallId,
    })
  }

  return {
    /** Before there is a socket. Throws `not_found` for a call whose sound is not waited for. */
    async admit(callId: string): Promise<{ open(socket: WebSocket): void }> {
      const call = await store.find(callId)
      if (!call || call.ticket_hash === null) throw new Fault('not_found', 'There is no such call.')
      return {
        open(socket) {
          const served = serve(callId, socket)
            .catch((error: unknown) => {
              log.error({ call_id: callId, err: error }, 'a call was dropped')
              socket.terminate()
            })
            .finally(() => busy.delete(served))
          busy.add(served)
        },
      }
    },
    /** The call has ended; its sound, when it comes here, ends too. */
    end: (callId: string): void => carried.get(callId)?.('hung_up'),
    /** Ends all; resolves when what was said is kept. */
    async close(): Promise<void> {
      for (const end of carried.values()) end('lost')
      await Promise.all(busy)
    },
  }
}

/** Reads frames from the first moment on; what is none of the protocol ends the socket. */
function listen(socket: WebSocket, telephony: Pick<Telephony, 'readFrame'>) {
  const frames = createFrames()
  const started = Promise.withResolvers<Started | null>()
  const ended = Promise.withResolvers<'hung_up' | 'lost'>()
  const end = (how: 'hung_up' | 'lost') => {
    started.resolve(null)
    ended.resolve(how)
  }
  socket.on('error', () => socket.terminate())
  socket.on('close', () => end('hung_up'))
  socket.on('message', (data: RawData) => {
    let frame: MediaFrame | null
    try {
      frame = telephony.readFrame(String(data))
    } catch {
      return socket.close(closeCodes.notTheProtocol, 'this is no frame of a media stream')
    }
    if (frame === null) return
    if (frame.type === 'start') started.resolve(frame)
    else if (frame.type === 'stop') end('hung_up')
    else frames.take(frame)
  })
  return {
    started: started.promise,
    end,
    line: {
      onAudio: frames.onAudio,
      onMark: frames.onMark,
      onEnd: (act: (how: 'hung_up' | 'lost') => void) => void ended.promise.then(act),
      send(text: string) {
        if (socket.readyState !== socket.OPEN) return
        // Whoever takes nothing for so long is gone.
        if (socket.bufferedAmount > mostUnsent) return socket.terminate()
        socket.send(text)
      },
    },
  }
}
