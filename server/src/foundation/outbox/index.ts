/**
 * Outbox: events of all features, delivered to listeners in this process, in other replicas, and to clients that
 * reconnect.
 *
 * Owns the tables `outbox` and `outbox_head`. Promises that an event is stored if and only if its cause is committed,
 * and that positions have no gaps and are delivered in order. Does not promise that a listener hears every event:
 * a process can die. Work that must survive that is found in tables.
 */
export type { Listener, NewEvent, ReservedFields, SeenBy, StoredEvent } from './event.ts'
export {
  announcementOf,
  changesTopic,
  createOutbox,
  type Events,
  eventsTopic,
  followersTopic,
  hasChanges,
  maxStoredEvents,
  type Outbox,
  type Relaying,
} from './service.ts'
