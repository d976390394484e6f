import type { Migration } from '../ports/database/port.ts'
import { foundation } from './0001-foundation.ts'

/** Every migration there is; applied in the order of their names. */
export const migrations: Migration[] = [foundation]
