import {
  CredentialsStatus,
  exportCredentials,
  getCredentialsStatus,
  importCredentials,
  injectCredentials,
} from '@roost/contracts/agents/credentials'
import { z } from 'zod'
import { type Tool, tool } from '../tool.ts'
import { agentName } from './parameters.ts'

const name = agentName

export const credentialTools: Tool[] = [
  tool({
    name: 'get_credential_status',
    description:
      'Which credential files and variables an agent has, and which tool servers are left out for want of one. Names alone, never a value.',
    audience: 'everyone',
    effect: 'read',
    input: { name },
    output: CredentialsStatus,
    run: ({ api }, params) => api.call(getCredentialsStatus, { params }),
  }),
  tool({
    name: 'inject_credentials',
    description:
      'Put credential files such as .env, .mcp.json or a key into a running agent, all or none. What is there under the same names is replaced as a whole.',
    audience: 'person',
    effect: 'write',
    input: {
      name,
      files: z.record(z.string(), z.string()).default({}).describe('Path in the workspace to text.'),
      files_b64: z.record(z.string(), z.string()).default({}).describe('Path in the workspace to base64.'),
    },
    run: ({ api }, { name, ...body }) => api.call(injectCredentials, { params: { name }, body }),
  }),
  tool({
    name: 'export_credentials',
    description:
      "Seal an agent's credential files into .credentials.enc in its workspace. Only this installation opens it.",
    audience: 'person',
    effect: 'write',
    input: { name },
    run: ({ api }, params) => api.call(exportCredentials, { params }),
  }),
  tool({
    name: 'import_credentials',
    description:
      "Put the files of the .credentials.enc in an agent's workspace into their places, all or none.",
    audience: 'person',
    effect: 'write',
    input: { name },
    run: ({ api }, params) => api.call(importCredentials, { params }),
  }),
]
