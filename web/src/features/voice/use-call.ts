import type { VoiceServerMessage } from '@roost/contracts/conversations/voice'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { callAfter, newCall } from './call-state.ts'
import { toBase64 } from './pcm.ts'
import { beginCall, type CallTarget } from './queries.ts'
import { openSound, type Sound } from './sound.ts'

/** A call with the lifetime of the component. */
export function useCall(target: CallTarget) {
  const api = useApi()
  const [call, setCall] = useState(newCall)
  const [fault, setFault] = useState<unknown>(null)
  const [isMuted, setMuted] = useState(false)
  const line = useRef<{ socket: WebSocket; sound: Sound } | null>(null)

  const begin = useEffectEvent(async (signal: AbortSignal) => {
    let socket: WebSocket | null = null
    const sound = await openSound((samples) => {
      if (socket?.readyState === WebSocket.OPEN) {
        socket.send(JSON.stringify({ type: 'audio', data: toBase64(samples) }))
      }
    })
    signal.addEventListener('abort', sound.close)
    if (signal.aborted) return sound.close()
    try {
      const url = new URL(await beginCall(api, target), location.href)
      url.protocol = url.protocol.replace('http', 'ws')
      if (signal.aborted) return
      socket = new WebSocket(url)
      line.current = { socket, sound }
      follow(socket, sound, signal)
    } catch (error) {
      sound.close()
      throw error
    }
  })

  function follow(socket: WebSocket, sound: Sound, signal: AbortSignal): void {
    signal.addEventListener('abort', () => socket.close())
    socket.onmessage = ({ data }) => {
      // The platform sends nothing else on this socket.
      const message = JSON.parse(String(data)) as VoiceServerMessage
      if (message.type === 'audio') return sound.play(message.data)
      if (message.type === 'interrupted') return sound.drop()
      if (!signal.aborted) setCall((now) => callAfter(now, message))
    }
    socket.onclose = () => {
      sound.close()
      if (!signal.aborted) setCall((now) => ({ ...now, state: 'ended' }))
    }
  }

  useEffect(() => {
    const over = new AbortController()
    begin(over.signal).catch((error: unknown) => {
      if (over.signal.aborted) return
      setFault(error)
      setCall((now) => ({ ...now, state: 'ended' }))
    })
    return () => over.abort()
  }, [])

  return {
    call,
    fault,
    isMuted,
    mute(next: boolean) {
      line.current?.sound.setMuted(next)
      if (next && line.current?.socket.readyState === WebSocket.OPEN) {
        line.current.socket.send(JSON.stringify({ type: 'end' }))
      }
      setMuted(next)
    },
  }
}
