import type { Client } from '@roost/contracts/client'
import {
  getCanvas,
  getRosterCanvas,
  listCanvases,
  listRosterCanvases,
} from '@roost/contracts/conversations/canvas'
import { listCanvasShares, readSharedCanvas } from '@roost/contracts/conversations/canvas-shares'
import { queryOptions } from '@tanstack/react-query'
import { ofAgent, staleOn } from '../../live/stale.ts'
import { workspaceKeys } from '../workspace-chat/queries.ts'

export const canvasKey = (name: string) => ['agent', name, 'canvas'] as const
const rosterKey = (name: string) => [...workspaceKeys.conversations(name), 'canvas'] as const

staleOn(['canvas_*'], ofAgent(canvasKey), ofAgent(rosterKey))

export const canvasesQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...canvasKey(name), 'list'],
    queryFn: ({ signal }) => api.call(listCanvases, { params: { name }, signal }),
  })

export const canvasQuery = (api: Client, name: string, id: string) =>
  queryOptions({
    queryKey: [...canvasKey(name), 'one', id],
    queryFn: ({ signal }) => api.call(getCanvas, { params: { name, canvas_id: id }, signal }),
  })

export const sharesQuery = (api: Client, name: string, id: string) =>
  queryOptions({
    queryKey: [...canvasKey(name), 'shares', id],
    queryFn: ({ signal }) =>
      api.call(listCanvasShares, { params: { name }, query: { canvas_id: id }, signal }),
  })

/** The canvases that an agent shows in the Workspace. */
export const rosterCanvasesQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...rosterKey(name), 'list'],
    queryFn: ({ signal }) => api.call(listRosterCanvases, { params: { name }, signal }),
  })

export const rosterCanvasQuery = (api: Client, name: string, id: string) =>
  queryOptions({
    queryKey: [...rosterKey(name), 'one', id],
    queryFn: ({ signal }) => api.call(getRosterCanvas, { params: { name, canvas_id: id }, signal }),
  })

/** `as`: the token of the request; null: none. Links receive no events, so this query polls. */
export const sharedCanvasQuery = (api: Client, token: string, as: string | null) =>
  queryOptions({
    queryKey: ['shared-canvas', token, as],
    queryFn: ({ signal }) => api.withToken(as).call(readSharedCanvas, { params: { token }, signal }),
    refetchInterval: 60_000,
  })
