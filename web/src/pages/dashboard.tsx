import { createLazyRoute } from '@tanstack/react-router'
import { lazy } from 'react'
import { Fleet } from '../features/agents/fleet.tsx'

const RunsOverTime = lazy(async () => ({
  default: (await import('../features/executions/runs-over-time.tsx')).RunsOverTime,
}))

export const route = createLazyRoute('/signed-in/')({
  component: () => <Fleet Timeline={RunsOverTime} />,
})
