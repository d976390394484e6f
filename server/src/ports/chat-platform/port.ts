import type { Secret } from '../../kit/secret.ts'

/** Operations of a chat platform on behalf of the bot that owns the token. */
export type ChatPlatform = {
  /** Returns the token's bot. Throws `ChatPlatformDown`. */
  whoAmI(token: Secret): Promise<{ ok: true; identity: BotIdentity } | Refused>
  /** Returns a channel. Throws `ChatPlatformDown`. */
  channel(token: Secret, channelId: string): Promise<{ ok: true; channel: ChannelInfo } | Refused>
  /** Posts into a thread. Throws `ChatPlatformDown` when it is unknown whether the message was posted. */
  post(token: Secret, post: Post, signal: AbortSignal): Promise<Posted>
  /**
   * True when the post with this id is in the thread; false when not visible to the bot. Throws
   * `ChatPlatformDown`.
   */
  isPosted(token: Secret, post: Omit<Post, 'text'>, signal: AbortSignal): Promise<boolean>
}

export type BotIdentity = { teamId: string; workspaceName: string; botUserId: string; botUser: string }
/** `isMember`: the bot is a member; null when unknown. */
export type ChannelInfo = { name: string | null; isMember: boolean | null }
export type Post = {
  /** Own id, stored in the message's metadata so that the message can be found again. */
  id: string
  channelId: string
  threadTs: string
  /** In the platform's own markup. */
  text: string
}
/** `code` is the platform's own error code. */
export type Refused = { ok: false; code: string }
/** `later`: not posted, but a retry may succeed; `afterSeconds` when the platform specifies it. */
export type Posted = { ok: true } | (Refused & { later: boolean; afterSeconds: number | null })

/** The platform is unreachable or its response is invalid. Its text is not shown. */
export class ChatPlatformDown extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'ChatPlatformDown'
  }
}
