import assert from 'node:assert/strict'
import type { OpenTestDb } from '../../../test/dialects.ts'
import { accept } from '../../../test/run-platform.ts'
import { openWorkspaceWorld } from '../../workspace-chat/test/world.ts'
import { createCanvas } from '../index.ts'

export type CanvasWorld = Awaited<ReturnType<typeof openCanvasWorld>>

export const path = '/api/agents/scout/canvas'
export const markdown = (text: string, over: object = {}) => ({
  kind: 'markdown',
  payload: { markdown: text },
  ...over,
})

/** The agent `scout` of ann with its key, and its canvases. */
export async function openCanvasWorld(open: OpenTestDb) {
  const world = await openWorkspaceWorld(open, {
    more: ({ area, ...parts }) =>
      createCanvas({
        ...parts,
        agentRecords: area.agentRecords,
        agentAccess: area.agentAccess,
        baseUrl: 'https://roost.example',
      }).routes,
  })
  const { agentId, owner, platformRequest: request } = world
  const key = await world.agentKey(agentId)
  return {
    ...world,
    key,
    request,
    /** As the agent itself. */
    put: (id: string, body: object, token = key) => request(token, 'PUT', `${path}/${id}`, body),
    patch: (id: string, body: object, token = key) => request(token, 'PATCH', `${path}/${id}`, body),
    /** As its owner. */
    get: async (rest = '') => (await request(owner.key, 'GET', `${path}${rest}`)).json,
    shareAgent: world.share,
    run: (id: string) => accept(world.runs, { agentId: id }),
    async share(id: string, body: object = {}) {
      const { status, json } = await request(owner.key, 'POST', `${path}/${id}/share`, body)
      assert.equal(status, 201, JSON.stringify(json))
      return json
    },
    /** What a link shows; without a token as somebody whose credential is empty. */
    view: (token: string, as = '') => request(as, 'GET', `/api/public/canvas/${token}`),
  }
}
