/** The parts of the address that pick items; undefined takes a part out of it. */
export type InboxSearch = {
  status?: string | undefined
  kind?: string | undefined
  priority?: string | undefined
  agent?: string | undefined
  item?: string | undefined
  page?: number | undefined
}
