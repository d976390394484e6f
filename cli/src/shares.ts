import { type ShareAccess, type StrangersAccess, shareAccesses } from '@roost/contracts/agents/agent'
import { getStrangers, putStrangers } from '@roost/contracts/agents/settings'
import { changeShare, listAccess, shareAgent, unshareAgent } from '@roost/contracts/agents/sharing'
import { commandGroup } from './client/client-command.ts'
import { table, time } from './client/output.ts'

export const shares = commandGroup('shares', 'Share agents, and set what people may do with their files.', {
  list: {
    parameters: 'AGENT',
    summary: 'List the people with access to an agent.',
    async run({ api, positionals: [name = ''], print }) {
      const people = await api.call(listAccess, { params: { name } })
      print(people, () =>
        table(
          ['person', 'files', 'last used'],
          people.map(({ email, username, access, last_active_at }) => [
            email ?? username ?? '',
            access,
            time(last_active_at),
          ]),
        ),
      )
    },
  },
  add: {
    parameters: 'AGENT EMAIL',
    summary: 'Share an agent with a person.',
    options: { access: { type: 'string' } },
    optionLines: [`--access NAME    ${shareAccesses.join(' or ')} files of the workspace; default write`],
    async run({ api, positionals: [name = '', email = ''], text, print }) {
      // The platform validates the value, so its own message names the invalid one.
      const access = text('access') as ShareAccess | undefined
      const share = await api.call(shareAgent, { params: { name }, body: { email, access } })
      print(share, () => `${share.shared_with_email} may ${share.access} files of ${share.agent_name}.`)
    },
  },
  set: {
    parameters: 'AGENT EMAIL read|write',
    summary: 'Change what a share permits.',
    async run({ api, positionals: [name = '', email = '', access = ''], print }) {
      const body = { access: access as ShareAccess }
      const share = await api.call(changeShare, { params: { name, email }, body })
      print(share, () => `${share.shared_with_email} may ${share.access} files of ${share.agent_name}.`)
    },
  },
  remove: {
    parameters: 'AGENT EMAIL',
    summary: 'End a share.',
    async run({ api, positionals: [name = '', email = ''], print }) {
      const reply = await api.call(unshareAgent, { params: { name, email } })
      print(reply, () => reply.message)
    },
  },
  strangers: {
    parameters: 'AGENT [none|read|write]',
    summary: 'Show or set what turns of visitors, payers and people in Slack may do with files.',
    async run({ api, positionals: [name = '', access], print }) {
      const params = { name }
      const reply =
        access === undefined
          ? await api.call(getStrangers, { params })
          : await api.call(putStrangers, { params, body: { access: access as StrangersAccess } })
      print(reply, () => `Strangers and files of ${reply.agent_name}: ${reply.access}.`)
    },
  },
})
