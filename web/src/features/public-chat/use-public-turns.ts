import { useEffect, useState } from 'react'
import { browserSetting } from '../../live/stream-setting.ts'
import { useApp } from '../../shell/app-context.ts'
import { createLiveTurns, type LiveTurns } from '../chat/live-turns.ts'
import { newKey } from '../chat/use-live-turns.ts'
import { publicCalls } from './queries.ts'
import type { Visit } from './visit.ts'

/** Text is drawn so often: each time costs a reading of the block that grows. */
const frameMs = 40

/** The turns that this page reads on a link. Reading ends with the page; the turns go on. */
export function usePublicTurns(token: string, visit: Visit): LiveTurns {
  const app = useApp()
  const [turns] = useState(() =>
    createLiveTurns({
      ...publicCalls(app, token, visit),
      setting: browserSetting(),
      gather: (run) => void setTimeout(run, frameMs),
      now: () => new Date(),
      newKey,
    }),
  )
  useEffect(() => () => turns.close(), [turns])
  return turns
}
