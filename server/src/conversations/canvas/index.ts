/**
 * Canvas: pages that an agent keeps up to date for its people, made of blocks (figures, charts, tables, text).
 *
 * Owns the tables `agent_canvases` and `canvas_shares`. Promises that writes that come at once follow one another and
 * none is lost, that HTML is kept without anything that acts, and that a link shows its canvas to nobody once it has
 * ended or the person may not use the agent any more. Refuses to know how a block is drawn.
 */
import type { Route } from '../../http/route.ts'
import type { WorkspaceChat } from '../workspace-chat/index.ts'
import { canvasRoutes } from './routes.ts'
import { type CanvasesDeps, createCanvases } from './service.ts'
import { createShares, type SharesDeps } from './shares.ts'

export type CanvasDeps = CanvasesDeps & Omit<SharesDeps, 'workspace'> & { workspace: WorkspaceChat }

export function createCanvas(deps: CanvasDeps): { routes: Route[] } {
  const canvases = createCanvases(deps)
  return { routes: canvasRoutes({ canvases, shares: createShares(deps), workspace: deps.workspace }) }
}
