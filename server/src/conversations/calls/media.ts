import type { RawData, WebSocket } from 'ws'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { MediaFrame, Telephony } from '../../ports/telephony/port.ts'
import { leaseSeconds } from './session.ts'
import { createFrames, type MediaLine, maxUnsentBytes } from './sound.ts'
import { type CallRow, callStore } from './store.ts'
import { hashOf } from './ticket.ts'

export type MediaDeps = {
  db: Db
  clock: Clock
  log: Log
  telephony: Pick<Telephony, 'readFrame'>
  carry(call: CallRow, media: MediaLine): Promise<void>
}

/** The provider identifies the call directly after it opens the socket. */
const startSeconds = 10
const closeCodes = { done: 1000, notTheProtocol: 1008, badTicket: 4001 } as const

type Started = Extract<MediaFrame, { type: 'start' }>

/** Accepts the media sockets of calls. A ticket opens one socket, once. */
export function createMedia({ db, clock, log, telephony, carry }: MediaDeps) {
  const store = callStore(db)
  /** Ends the media stream of each call that this process carries. */
  const streams = new Map<string, (how: 'hung_up' | 'lost') => void>()
  const active = new Set<Promise<void>>()

  async function serve(callId: string, socket: WebSocket): Promise<void> {
    const stream = listen(socket, telephony)
    const timer = new AbortController()
    const timeout = clock.wait(startSeconds * 1000, timer.signal).then(() => null)
    const start = await Promise.race([stream.started, timeout])
    timer.abort()
    const call = start && (await connect(callId, start))
    if (!start || !call) return socket.close(closeCodes.badTicket, 'the ticket is not good')
    const close = () => socket.close(closeCodes.done)
    streams.set(call.id, stream.end)
    try {
      await carry(call, { ...stream.media, streamId: start.streamId, close })
    } finally {
      streams.delete(call.id)
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
    /** Runs before the upgrade. Throws `not_found` for a call that expects no media. */
    async admit(callId: string): Promise<{ open(socket: WebSocket): void }> {
      const call = await store.find(callId)
      if (!call || call.ticket_hash === null) throw new Fault('not_found', 'There is no such call.')
      return {
        open(socket) {
          const session = serve(callId, socket)
            .catch((error: unknown) => {
              log.error({ call_id: callId, err: error }, 'a call was dropped')
              socket.terminate()
            })
            .finally(() => active.delete(session))
          active.add(session)
        },
      }
    },
    /** Ends the media stream of an ended call, if this process carries it. */
    end: (callId: string): void => streams.get(callId)?.('hung_up'),
    /** Ends all streams; resolves when the transcripts are stored. */
    async close(): Promise<void> {
      for (const end of streams.values()) end('lost')
      await Promise.all(active)
    },
  }
}

/** Reads frames from the start; an invalid frame closes the socket. */
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
    else frames.receive(frame)
  })
  return {
    started: started.promise,
    end,
    media: {
      onAudio: frames.onAudio,
      onMark: frames.onMark,
      onEnd: (listener: (how: 'hung_up' | 'lost') => void) => void ended.promise.then(listener),
      send(text: string) {
        if (socket.readyState !== socket.OPEN) return
        // A client that reads nothing for this long is disconnected.
        if (socket.bufferedAmount > maxUnsentBytes) return socket.terminate()
        socket.send(text)
      },
    },
  }
}
