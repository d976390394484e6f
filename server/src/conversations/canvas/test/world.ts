import assert from 'node:assert/strict'
import type { OpenTestDb } from '../../../test/dialects.ts'
import { accept } from '../../../test/run-platform.ts'
import { openWorkspaceWorld } from '../../workspace-chat/test/world.ts'
import { canvasRoutes, createCanvas } from '../index.ts'

export type CanvasWorld = Awaited<ReturnType<typeof openCanvasWorld>>

export const path = '/api/agents/scout/canvas'
export const markdown = (text: string, overrides: object = {}) => ({
  kind: 'markdown',
  payload: { markdown: text },
  ...overrides,
})

/** The agent `scout` of ann with its key, and its canvases. */
export async function openCanvasWorld(open: OpenTestDb) {
  const world = await openWorkspaceWorld(open, {
    more: ({ area, ...parts }) =>
      canvasRoutes(
        createCanvas({
          ...parts,
          agentRecords: area.agentRecords,
          agentAccess: area.agentAccess,
          baseUrl: 'https://roost.example',
        }),
      ),
  })
  const { agentId, owner, platformRequest: request } = world
  const key = await world.agentKey(agentId)
  return {
    ...world,
    key,
    request,
    /** Sent by the agent itself. */
    put: (id: string, body: object, token = key) => request(token, 'PUT', `${path}/${id}`, body),
    patch: (id: string, body: object, token = key) => request(token, 'PATCH', `${path}/${id}`, body),
    /** Sent by its owner. */
    get: async (rest = '') => (await request(owner.key, 'GET', `${path}${rest}`)).json,
    shareAgent: world.share,
    run: (id: string) => accept(world.runs, { agentId: id }),
    async share(id: string, body: object = {}) {
      const { status, json } = await request(owner.key, 'POST', `${path}/${id}/share`, body)
      assert.equal(status, 201, JSON.stringify(json))
      return json
    },
    /** Opens a share link; without a token the credential is empty. */
    view: (token: string, as = '', headers = {}) =>
      request(as, 'GET', `/api/public/canvas/${token}`, undefined, headers),
  }
}
