import { createLazyRoute } from '@tanstack/react-router'
import { Fleet } from '../features/agents/fleet.tsx'

export const route = createLazyRoute('/signed-in/')({ component: Fleet })
