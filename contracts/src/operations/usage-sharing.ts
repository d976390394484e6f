import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'

const tag = 'Settings'
const path = '/api/settings/telemetry-sharing'
const decides = { who: 'admin', gate: 'human' } as const
const configures = (action: string) => ({ type: 'configuration', action }) as const

/** Figures of the whole installation, without names or user content. */
export const UsagePreview = z.object({
  version: z.string(),
  edition: z.string(),
  install_source: z.string(),
  agents: z.object({
    total: z.number().int(),
    running: z.number().int(),
    by_runtime: z.record(z.string(), z.number().int()),
  }),
})
export type UsagePreview = z.output<typeof UsagePreview>

export const UsageSharing = z.object({
  enabled: z.boolean(),
  consent_asked: z
    .boolean()
    .describe('A person has answered: enabled or disabled sharing, or dismissed the question.'),
  dismissed: z.boolean().describe('The question was dismissed without an answer.'),
  preview: UsagePreview.describe('Exactly what would be sent.'),
})
export type UsageSharing = z.output<typeof UsageSharing>

export const getUsageSharing = endpoint({
  id: 'getUsageSharing',
  method: 'GET',
  path,
  summary: 'Usage sharing: status and preview',
  description: 'Off by default. This version has no recipient and sends nothing.',
  tag,
  access: { who: 'admin' },
  returns: UsageSharing,
})

export const putUsageSharing = endpoint({
  id: 'putUsageSharing',
  method: 'PUT',
  path,
  summary: 'Enable or disable usage sharing',
  tag,
  access: decides,
  body: z.object({ enabled: z.boolean() }),
  returns: UsageSharing,
  audit: configures('put_usage_sharing'),
})

export const dismissUsageSharing = endpoint({
  id: 'dismissUsageSharing',
  method: 'POST',
  path: `${path}/dismiss`,
  summary: 'Dismiss the question; nothing is shared',
  tag,
  access: decides,
  returns: z.object({ dismissed: z.literal(true) }),
  audit: configures('dismiss_usage_sharing'),
})
