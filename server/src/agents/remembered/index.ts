/**
 * What every run asks of its agent and hardly ever changes, kept in memory: whom it may call, for what its runs are
 * told, and its own key, to be blotted out of transcripts. Decides nothing: whether an agent may call another one
 * is asked of `reach`.
 */
export { createRemembered, type Remembered } from './remembered.ts'
