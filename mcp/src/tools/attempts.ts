import {
  AttemptSet,
  discardAttempts,
  getAttempts,
  keepAttempt,
  listAttempts,
  startAttempts,
} from '@roost/contracts/runs/attempts'
import { asQuery, bodyOf, described, pathOf, queryOf, request } from '../requests.ts'
import { type Tool, tool } from '../tool.ts'
import { agentName, words } from './parameters.ts'

const inSet = { as: { '{set}': 'attempt_set_id' } }
const setId = pathOf(getAttempts).set.describe('The id of the set, as start_attempts returns it.')

export const attemptTools: Tool[] = [
  tool({
    name: 'start_attempts',
    description:
      'Try one task several times at the same time, each on a copy of the agent with the same files, under one cost cap. Returns the set immediately: call get_attempts later, and keep_attempt or discard_attempts at the end.',
    audience: 'person',
    effect: 'write',
    requests: [request(startAttempts)],
    input: {
      agent_name: agentName,
      ...described(bodyOf(startAttempts), {
        timeout_seconds: 'Limit for each run.',
        allowed_tools: words.allowed_tools,
      }),
    },
    run: ({ api }, { agent_name, ...body }) =>
      api.call(startAttempts, { params: { name: agent_name }, body }),
  }),
  tool({
    name: 'list_attempts',
    description: 'The sets of attempts of an agent, newest first.',
    audience: 'person',
    effect: 'read',
    requests: [request(listAttempts)],
    input: {
      agent_name: agentName,
      limit: queryOf(listAttempts).limit.describe(words.limit),
      offset: queryOf(listAttempts).offset.describe(words.offset),
    },
    run: ({ api }, { agent_name, ...query }) =>
      api.call(listAttempts, { params: { name: agent_name }, query: asQuery(query) }),
  }),
  tool({
    name: 'get_attempts',
    description: 'A set of attempts: result, check, cost, duration and changed files of each.',
    audience: 'person',
    effect: 'read',
    requests: [request(getAttempts, inSet)],
    input: { agent_name: agentName, attempt_set_id: setId },
    output: AttemptSet,
    run: ({ api }, { agent_name, attempt_set_id }) =>
      api.call(getAttempts, { params: { name: agent_name, set: attempt_set_id } }),
  }),
  tool({
    name: 'keep_attempt',
    description:
      "Keep one attempt: its changes become the agent's workspace, and all attempts are removed. Files that the agent changed meanwhile as well are conflicts: call get_attempts to see whether it was kept.",
    audience: 'person',
    effect: 'write',
    requests: [request(keepAttempt, inSet)],
    input: {
      agent_name: agentName,
      attempt_set_id: setId,
      ...described(bodyOf(keepAttempt), { attempt: 'Number of the attempt.' }),
    },
    run: ({ api }, { agent_name, attempt_set_id, ...body }) =>
      api.call(keepAttempt, { params: { name: agent_name, set: attempt_set_id }, body }),
  }),
  tool({
    name: 'discard_attempts',
    description: 'Discard all attempts of a set, also those that still work.',
    audience: 'person',
    effect: 'destroy',
    requests: [request(discardAttempts, inSet)],
    input: { agent_name: agentName, attempt_set_id: setId },
    run: ({ api }, { agent_name, attempt_set_id }) =>
      api.call(discardAttempts, { params: { name: agent_name, set: attempt_set_id } }),
  }),
]
