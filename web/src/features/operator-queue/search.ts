/** Search parameters that filter items; undefined removes a parameter. */
export type InboxSearch = {
  status?: string | undefined
  kind?: string | undefined
  priority?: string | undefined
  agent?: string | undefined
  item?: string | undefined
  page?: number | undefined
}
