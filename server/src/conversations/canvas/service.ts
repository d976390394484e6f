import type { WorkspaceChat } from '../workspace-chat/index.ts'
import { type Canvases, type CanvasesDeps, createCanvases } from './canvases.ts'
import { createShares, type Shares, type SharesDeps } from './shares.ts'

export type CanvasDeps = CanvasesDeps & Omit<SharesDeps, 'workspace'> & { workspace: WorkspaceChat }

export type CanvasFeature = { canvases: Canvases; shares: Shares; workspace: WorkspaceChat }

export function createCanvas(deps: CanvasDeps): CanvasFeature {
  return { canvases: createCanvases(deps), shares: createShares(deps), workspace: deps.workspace }
}
