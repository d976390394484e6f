import type { Client } from '@roost/contracts/client'
import {
  getSharedConversation,
  getSharedPicture,
  listSharedConversations,
} from '@roost/contracts/conversations/chat-shares'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { PictureSource } from '../chat/stored-picture.tsx'

const sharedKey = ['shared-conversations'] as const
const pageSize = 60

/** The conversations that others share with the user. */
export const sharedListQuery = (api: Client) =>
  queryOptions({
    queryKey: [...sharedKey, 'list'],
    queryFn: ({ signal }) => api.call(listSharedConversations, { query: {}, signal }),
  })

/** A shared conversation, in pages from the newest message back. */
export const sharedConversationQuery = (api: Client, id: string) =>
  infiniteQueryOptions({
    queryKey: [...sharedKey, id],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: before, signal }) =>
      api.call(getSharedConversation, {
        params: { share_id: id },
        query: { limit: String(pageSize), ...(before === undefined ? {} : { before }) },
        signal,
      }),
    getNextPageParam: ({ messages }) => (messages.length < pageSize ? undefined : messages[0]?.id),
  })

export const sharedPictures = (api: Client, id: string): PictureSource => ({
  key: ['pictures', id],
  open: (picture_id, signal) =>
    api.open(getSharedPicture, { params: { share_id: id, picture_id }, ...(signal ? { signal } : {}) }),
})
