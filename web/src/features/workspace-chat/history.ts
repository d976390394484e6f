import type { CallReply } from '@roost/contracts/client'
import type { getWorkspaceHistory } from '@roost/contracts/conversations/workspace-conversations'

export type History = CallReply<typeof getWorkspaceHistory>
export type StoredMessage = History['messages'][number]
/** A stored message and its position. */
export type MessageProps = { name: string; sessionId: string; message: StoredMessage }
