import { useEffect, useState, useSyncExternalStore } from 'react'
import { newKey } from '../../lib/new-key.ts'
import { browserSetting } from '../../live/stream-setting.ts'
import { createLiveTurns, type LiveTurn, type LiveTurns, type LiveTurnsDeps } from './live-turns.ts'

/** Render interval in ms: each update parses the growing block again. */
const frameMs = 40

/**
 * The turns read by this page. `callsOf` is called once to get the requests. Reading ends with the page; the
 * turns continue.
 */
export function useLiveTurns(callsOf: () => Pick<LiveTurnsDeps, 'send' | 'follow' | 'onStored'>): LiveTurns {
  const [turns] = useState(() =>
    createLiveTurns({
      ...callsOf(),
      setting: browserSetting(),
      gather: (run) => void setTimeout(run, frameMs),
      now: () => new Date(),
      newKey,
    }),
  )
  useEffect(() => () => turns.close(), [turns])
  return turns
}

export function useTurnsOf(turns: LiveTurns, sessionId: string | null): readonly LiveTurn[] {
  const all = useSyncExternalStore(turns.subscribe, turns.current)
  return all.filter((turn) => turn.sessionId === sessionId)
}
