/**
 * Canvas: pages that an agent keeps up to date for its people, made of blocks (figures, charts, tables, text).
 * Owns the tables `agent_canvases` and `canvas_shares`. Concurrent writes are serialized and none is lost. Stored HTML
 * contains no active content. A share link stops working when it has ended or its viewer loses access. Clients decide
 * how blocks are drawn.
 */
export { canvasRoutes } from './routes.ts'
export { type CanvasFeature, createCanvas } from './service.ts'
export { sealedColumns } from './shares.ts'
