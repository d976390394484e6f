import {
  CredentialsStatus,
  exportCredentials,
  getCredentialsStatus,
  importCredentials,
  injectCredentials,
} from '@roost/contracts/agents/credentials'
import { bodyOf, described, request } from '../requests.ts'
import { type Tool, tool } from '../tool.ts'
import { agentName } from './parameters.ts'

const name = agentName
const byName = { as: { '{name}': 'name' } }

export const credentialTools: Tool[] = [
  tool({
    name: 'get_credential_status',
    description:
      'Which credential files and variables an agent has, and which MCP servers are left out because a variable is missing. Names only, never a value.',
    audience: 'everyone',
    effect: 'read',
    requests: [request(getCredentialsStatus, byName)],
    input: { name },
    output: CredentialsStatus,
    run: ({ api }, params) => api.call(getCredentialsStatus, { params }),
  }),
  tool({
    name: 'inject_credentials',
    description:
      'Write credential files such as .env, .mcp.json or a key into a running agent, all or none. A file of the same name is replaced.',
    audience: 'person',
    effect: 'write',
    requests: [request(injectCredentials, byName)],
    input: {
      name,
      ...described(bodyOf(injectCredentials), {
        files: 'Text of each file, by its path in the workspace.',
        files_b64: 'Base64 content of each file, by its path in the workspace.',
        hosts:
          'Variables of .env whose values stay in the platform, each with the hosts it is sent to. The agent gets a placeholder.',
      }),
    },
    run: ({ api }, { name, ...body }) => api.call(injectCredentials, { params: { name }, body }),
  }),
  tool({
    name: 'export_credentials',
    description:
      "Encrypt an agent's credential files into .credentials.enc in its workspace. Only this installation can decrypt it.",
    audience: 'person',
    effect: 'write',
    requests: [request(exportCredentials, byName)],
    input: { name },
    run: ({ api }, params) => api.call(exportCredentials, { params }),
  }),
  tool({
    name: 'import_credentials',
    description: "Restore the files of .credentials.enc in an agent's workspace, all or none.",
    audience: 'person',
    effect: 'write',
    requests: [request(importCredentials, byName)],
    input: { name },
    run: ({ api }, params) => api.call(importCredentials, { params }),
  }),
]
