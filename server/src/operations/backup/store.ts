import type { Db } from '../../ports/database/port.ts'

type Tables = { agents: { name: string; volume_base: string } }

/** Names of agents and the base of their volumes' names. */
export function volumeBases(db: Pick<Db, 'withTables'>): Promise<{ name: string; volume_base: string }[]> {
  return db
    .withTables<Tables>()
    .selectFrom('agents')
    .select(['name', 'volume_base'])
    .orderBy('name')
    .execute()
}
