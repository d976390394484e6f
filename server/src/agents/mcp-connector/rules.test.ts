import assert from 'node:assert/strict'
import { test } from 'node:test'
import { snippetsOf } from './rules.ts'

test('a bridge allows plain http only for addresses that need it', () => {
  const bridge = (url: string) => {
    const snippet = snippetsOf('scout', url, 'svc_mcp_x').find(({ client }) => client === 'claude-desktop')
    return JSON.parse(snippet?.content ?? '{}').mcpServers.scout.args.includes('--allow-http')
  }
  const urls = ['http://localhost:8000/mcp', 'https://roost.example/mcp', 'http://roost.lan:8000/mcp']
  assert.deepEqual(urls.map(bridge), [false, false, true])
})
