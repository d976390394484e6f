import { createKey, deleteKey, listKeys, revokeKey } from '@roost/contracts/identity/keys'
import { commandGroup } from './client/client-command.ts'
import { table, time } from './client/output.ts'

export const keys = commandGroup('keys', 'MCP keys: list, create, revoke, delete.', {
  list: {
    parameters: '',
    summary: 'List your keys, without their secrets.',
    options: { all: { type: 'boolean' } },
    optionLines: ['--all            the keys of all users (admins only)'],
    async run({ api, flag, print }) {
      const keyList = await api.call(listKeys, { query: flag('all') ? { all: 'true' } : {} })
      print(keyList, () =>
        table(
          ['id', 'name', 'scope', 'prefix', 'state', 'last used', 'owner'],
          keyList.map((key) => [
            key.id,
            key.name,
            key.scope,
            key.key_prefix,
            key.is_active ? 'active' : 'inactive',
            time(key.last_used_at),
            key.username,
          ]),
        ),
      )
    },
  },
  create: {
    parameters: 'NAME',
    summary: 'Create a key. Its secret is shown only once.',
    options: { scope: { type: 'string' }, description: { type: 'string' } },
    optionLines: ['--scope SCOPE    user (default); create ops and portal_delegate keys in the web UI'],
    async run({ api, positionals: [name = ''], text, print }) {
      const body = { name, scope: text('scope') ?? 'user', description: text('description') }
      const createdKey = await api.call(createKey, { body })
      print(createdKey, () => createdKey.key)
    },
  },
  revoke: {
    parameters: 'ID',
    summary: 'Revoke a key; it stays in the list.',
    async run({ api, positionals: [id = ''], print }) {
      const reply = await api.call(revokeKey, { params: { id } })
      print(reply, () => reply.message)
    },
  },
  delete: {
    parameters: 'ID',
    summary: 'Delete a key permanently.',
    async run({ api, positionals: [id = ''], print }) {
      const reply = await api.call(deleteKey, { params: { id } })
      print(reply, () => reply.message)
    },
  },
})
