import { sql } from 'kysely'
import type { Db, SchemaTools, Tx } from './port.ts'

/** Schema operations with a different syntax per dialect. */
export function schemaTools(tx: Tx, dialect: Db['dialect']): SchemaTools {
  return {
    async makeAppendOnly(table, timeColumn, guard) {
      const statements = dialect === 'sqlite' ? sqliteTriggers : postgresTriggers
      for (const statement of statements(table, timeColumn, guard))
        await sql.raw(statement).execute(tx.withTables())
    },
    async keepRoom(table, percent) {
      // SQLite changes rows in place.
      if (dialect === 'sqlite') return
      await sql.raw(`alter table ${table} set (fillfactor = ${100 - percent})`).execute(tx.withTables())
    },
  }
}

function sqliteTriggers(table: string, timeColumn: string, guard: string): string[] {
  return [
    `create trigger ${table}_no_update before update on ${table}
     begin select raise(abort, '${table} is append-only'); end`,
    `create trigger ${table}_no_delete before delete on ${table}
     when not exists (select 1 from ${guard} where sweep_before is not null and old.${timeColumn} < sweep_before)
     begin select raise(abort, '${table} is append-only'); end`,
  ]
}

function postgresTriggers(table: string, timeColumn: string, guard: string): string[] {
  return [
    `create function ${table}_refuse() returns trigger language plpgsql as $$
     begin raise exception '${table} is append-only'; end $$`,
    `create function ${table}_guard() returns trigger language plpgsql as $$
     begin
       if exists (select 1 from ${guard} where sweep_before is not null and old.${timeColumn} < sweep_before) then
         return old;
       end if;
       raise exception '${table} is append-only';
     end $$`,
    `create trigger ${table}_no_update before update on ${table}
     for each row execute function ${table}_refuse()`,
    `create trigger ${table}_no_delete before delete on ${table}
     for each row execute function ${table}_guard()`,
    `create trigger ${table}_no_truncate before truncate on ${table}
     for each statement execute function ${table}_refuse()`,
  ]
}
