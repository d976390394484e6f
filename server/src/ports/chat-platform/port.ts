import type { Secret } from '../../kit/secret.ts'

/** What is asked of a chat platform, in the name of the bot whose token is given. */
export type ChatPlatform = {
  /** Whose the token is. Throws `ChatPlatformDown`. */
  whoAmI(token: Secret): Promise<{ ok: true; identity: BotIdentity } | Refused>
  /** Throws `ChatPlatformDown`. */
  channel(token: Secret, channelId: string): Promise<{ ok: true; channel: ChannelInfo } | Refused>
  /** Posts into a thread. Throws `ChatPlatformDown`: nobody knows whether it was posted. */
  post(token: Secret, post: Post, signal: AbortSignal): Promise<Posted>
  /** Whether `post` of this id is in the thread. False also when the bot may not look. Throws `ChatPlatformDown`. */
  isPosted(token: Secret, post: Omit<Post, 'text'>, signal: AbortSignal): Promise<boolean>
}

export type BotIdentity = { teamId: string; workspaceName: string; botUserId: string; botUser: string }
/** `isMember`: the bot is in it; null when the platform does not say. */
export type ChannelInfo = { name: string | null; isMember: boolean | null }
export type Post = {
  /** Ours; travels with the message, so that it can be found again. */
  id: string
  channelId: string
  threadTs: string
  /** In the platform's own markup. */
  text: string
}
/** `code` is the platform's own word for it. */
export type Refused = { ok: false; code: string }
/** `later`: not posted, and worth another try; `afterSeconds` where the platform says when. */
export type Posted = { ok: true } | (Refused & { later: boolean; afterSeconds: number | null })

/** It does not answer, or not as one does; its text is not told. */
export class ChatPlatformDown extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'ChatPlatformDown'
  }
}
