import {
  getTemplate,
  getTemplateEnv,
  listTemplates,
  refreshTemplates,
} from '@roost/contracts/agents/templates'
import { type Route, signedInRoute, streamAnswer } from '../../http/route.ts'
import type { Templates } from './service.ts'

export function templateRoutes(templates: Templates): Route[] {
  return [
    signedInRoute(listTemplates, () => templates.list()),
    signedInRoute(getTemplate, ({ params }) => templates.get(params.id)),
    signedInRoute(getTemplateEnv, async ({ params }) => {
      const text = await templates.env(params.id)
      return streamAnswer('text/plain; charset=utf-8', oneChunk(text))
    }),
    signedInRoute(refreshTemplates, () => templates.refresh()),
  ]
}

async function* oneChunk(text: string) {
  yield text
}
