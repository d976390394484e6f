import type { AgentAccess } from '../../agents/access/index.ts'
import type { Agent } from '../../agents/records/index.ts'
import { anonymous, type Caller, type Identify } from '../../identity/access/index.ts'
import { Fault, isFault } from '../../kit/fault.ts'
import type { WorkspaceChat } from '../workspace-chat/index.ts'

export type ViewersDeps = {
  identify: Identify
  agentAccess: Pick<AgentAccess, 'relationTo'>
  workspace: Pick<WorkspaceChat, 'principals' | 'roster'>
}

/** Checks who may open a link that requires access to the agent. */
export function createViewers({ identify, agentAccess, workspace }: ViewersDeps) {
  const { principals, roster } = workspace

  /** An unknown session token may belong to a Workspace guest. */
  async function callerOf(authorization: string): Promise<Caller> {
    try {
      return await identify(authorization)
    } catch (error) {
      if (isFault(error, 'invalid_token')) return anonymous
      if (isFault(error, 'not_authenticated')) throw new Fault('sign_in_required')
      if (isFault(error, 'account_suspended')) throw new Fault('access_recheck_failed')
      throw error
    }
  }

  async function guestOf(authorization: string) {
    try {
      return await principals.of(anonymous, authorization)
    } catch (error) {
      if (isFault(error, 'session_expired', 'not_authenticated')) throw new Fault('sign_in_required')
      throw error
    }
  }

  return {
    /**
     * Checked on each view, because access can end before the link. Throws `sign_in_required` for anything but a
     * person's session, and `access_recheck_failed` for a person without access.
     */
    async admit(agent: Agent, authorization: string | undefined): Promise<void> {
      if (authorization === undefined) throw new Fault('sign_in_required')
      const caller = await callerOf(authorization)
      if (caller.kind === 'key') throw new Fault('sign_in_required')
      const isAdmitted =
        caller.kind === 'session'
          ? (await agentAccess.relationTo(caller, agent)) !== null
          : await roster.has(await guestOf(authorization), agent.id)
      if (!isAdmitted) throw new Fault('access_recheck_failed')
    },
  }
}
