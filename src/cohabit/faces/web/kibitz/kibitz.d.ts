export type Participant = {
    id: string;
    name: string;
    isSelf?: boolean;
    here?: boolean;
    role?: string;
    features?: string[];
    meta?: Record<string, any>;
};
export type AppSchema = {
    from: string;
    name: string;
    version: string;
    schema: any;
};
export type Chat = {
    from: string;
    name: string;
    text: string;
};
export type Unsubscribe = () => void;
export type AgentMeta = {
    role: "agent";
    readOnly: boolean;
    backend?: string;
    egress?: boolean;
};
export type Controller = {
    broadcast(data: any): any;
    sendTo(data: any, id: string): any;
    onMessage(listener: (data: any, from: string) => void): Unsubscribe;
    getParticipants(): Participant[];
    on(event: "participants", listener: (people: Participant[]) => void): Unsubscribe;
    setMeta(meta: AgentMeta): any;
    leave(): any;
    getSchemas?(): AppSchema[];
    onSchema?(listener: (schema: AppSchema) => void): Unsubscribe;
    getView?(): any;
    viewOwner?(): string | null;
};
export type Bridge = {
    onView(listener: (view: any) => void): Unsubscribe;
    getView(): any;
    onChat(listener: (message: Chat) => void): Unsubscribe;
    say(text: string): any;
};
export type AgentOptions = {
    readOnly?: boolean;
    backend?: string;
    egress?: boolean;
};
export type Cooldown = {
    ready(now: number): boolean;
    stamp(now: number): void;
};
export type BridgeAgent = Pick<AgentSession, "onView" | "getView" | "onChat" | "say" | "canAct">;
export type AgentSession = {
    canAct: boolean;
    onView(listener: (view: any) => void): Unsubscribe;
    getView(): any;
    onChat(listener: (message: Chat) => void): Unsubscribe;
    onData(listener: (data: any, from: string) => void): Unsubscribe;
    onRoster(listener: (people: Participant[]) => void): Unsubscribe;
    getRoster(): Participant[];
    onSchema(listener: (schema: AppSchema) => void): Unsubscribe;
    getSchemas(): AppSchema[];
    say(text: string): any;
    act(action: any): any;
    send(data: any, to?: string): any;
    leave(): any;
};
/**
 * An agent in a room. With `readOnly` it only perceives: `say`, `act` and `send` throw. The room enforces what the agent
 * may do all the same.
 *
 * @param {Controller} controller
 * @param {AgentOptions} [options] backend: the model that gets what the agent sees; egress: it leaves the room
 * @returns {AgentSession}
 */
export declare function createAgent(controller: Controller, options?: AgentOptions): AgentSession;
/**
 * An agent on an app that shows it a view of its own, such as one player's hand. It perceives and talks, no more.
 *
 * @param {Bridge} bridge
 * @param {{ readOnly?: boolean }} [options]
 * @returns {BridgeAgent}
 */
export declare function createAgentFromBridge(bridge: Bridge, options?: {
    readOnly?: boolean;
}): BridgeAgent;
/**
 * A gate for remarks: `ready` once `ms` have passed since the last `stamp`. Answers to people can skip it.
 *
 * @param {number} ms
 * @returns {Cooldown}
 */
export declare function cooldown(ms: number): Cooldown;
/** The house refused a call; `code` and `message` are those of the reply. */
export declare class Refusal extends Error {
    code: string;
    /** @param {{ code?: string, message?: string } | null} [error] */
    constructor(error?: {
        code?: string;
        message?: string;
    } | null);
}
/** The connection was lost before the reply arrived. */
export declare class ConnectionLost extends Error {
    code: string;
    constructor();
}
export type Handlers = {
    state?(state: "connecting" | "open" | "lost", detail?: string): void;
    ready(refusal: Refusal | null): void;
    push(frame: any): void;
    media?(frame: ArrayBuffer): void;
    refused(refusal: Refusal, wasSignedIn: boolean): void;
};
export type SocketOptions = {
    WebSocket?: any;
    silenceMs?: number;
    watching?: boolean;
};
/**
 * The events of a connection. `ready`: signed in, the first time or again; `refusal` is why the house ended the
 * connection before, where that was not about the token. `refused`: the token is not accepted, or not any more, and the
 * connection is closed.
 *
 * @typedef {{
 *   state?(state: "connecting" | "open" | "lost", detail?: string): void,
 *   ready(refusal: Refusal | null): void,
 *   push(frame: any): void,
 *   media?(frame: ArrayBuffer): void,
 *   refused(refusal: Refusal, wasSignedIn: boolean): void,
 * }} Handlers
 */
/** @typedef {{ WebSocket?: any, silenceMs?: number, watching?: boolean }} SocketOptions */
/**
 * A WebSocket to a house that reconnects until `close()`. `silenceMs`: a connection that is silent for so long is dead.
 * `watching`: an agent that plays the member's seat plays on until something is done here.
 */
export declare class HouseConnection {
    #private;
    address: string | URL;
    token: string;
    handlers: Handlers;
    silenceMs: number;
    protocols: string[];
    WebSocket: any;
    reconnect: () => undefined;
    /**
     * @param {string | URL} address of the WebSocket
     * @param {string} token
     * @param {Handlers} handlers
     * @param {SocketOptions} [options]
     */
    constructor(address: string | URL, token: string, handlers: Handlers, options?: SocketOptions);
    /** Call a command; rejects with Refusal or ConnectionLost. @param {string} command @param {any} [args] @param {string} [room] */
    call(command: string, args?: any, room?: string): Promise<any>;
    /**
     * Call a command exactly once: if the connection is lost, it is sent again with the same idempotency key.
     *
     * @param {string} command @param {any} [args] @param {string} [room]
     */
    callOnce(command: string, args?: any, room?: string): Promise<any>;
    /** Send bytes; dropped while there is no connection. @param {Uint8Array} bytes */
    sendBytes(bytes: Uint8Array): void;
    /** Give up this connection, and connect again after a while. */
    retry(): void;
    close(): void;
    /** Sign in with another token. @param {string} token */
    signIn(token: string): void;
}
/** The sender of views that the room's world makes. No member can have this handle. */
export declare const WORLD = "#world";
export type ConnectOptions = {
    app?: string;
    media?: boolean;
    WebSocket?: any;
    features?: string[];
};
/**
 * @typedef {{
 *   app?: string,
 *   media?: boolean,
 *   WebSocket?: any,
 *   features?: string[],
 * }} ConnectOptions app: the member whose views count, if the room has several apps; media: receive audio and screens
 */
/**
 * A controller of a room in a house. Rejects if that fails the first time. Later it reconnects by itself and resumes where
 * it was, without loss or repetition.
 *
 * @param {string | URL} url of the house, such as https://example.org
 * @param {string} token
 * @param {string} [room] not needed if the token is for one room
 * @param {ConnectOptions} [options]
 * @returns {Promise<RoomController>}
 */
export declare function connect(url: string | URL, token: string, room?: string, options?: ConnectOptions): Promise<RoomController>;
/** See `connect`. */
export declare class RoomController {
    #private;
    room: string | undefined;
    id: string;
    options: ConnectOptions;
    /** @type {Promise<void>} */
    opened: Promise<void>;
    connection: HouseConnection;
    /** @param {string | URL} url @param {string} token @param {string} [room] @param {ConnectOptions} [options] */
    constructor(url: string | URL, token: string, room?: string, options?: ConnectOptions);
    /** The token of the member. With a shared invite it is not that of the invite: keep it for the next time. */
    get token(): string;
    /** @param {any} data @returns {Promise<any>} */
    broadcast(data: any): Promise<any>;
    /** @param {any} data @param {string} id @returns {Promise<any>} */
    sendTo(data: any, id: string): Promise<any>;
    /**
     * Call a command of the house, exactly once. A refusal rejects the promise and is told to `on("refused")`; nobody has
     * to handle the promise.
     *
     * @param {string} command @param {any} [args] @returns {Promise<any>}
     */
    call(command: string, args?: any): Promise<any>;
    /** Send a frame of sound or of a screen. There is no error if it does not arrive. @param {"audio" | "screen"} lane @param {Uint8Array} bytes */
    sendMedia(lane: "audio" | "screen", bytes: Uint8Array): void;
    /** @param {string} name @param {string} version @param {any} schema */
    registerSchema(name: string, version: string, schema: any): Promise<any>;
    /** The role cannot be set: it comes from the credential. @param {Partial<AgentMeta>} meta */
    setMeta(meta: Partial<AgentMeta>): Promise<any>;
    /** Disconnect. The member stays in the roster of the house and can reconnect. */
    leave(): void;
    /** @param {(data: any, from: string) => void} listener */
    onMessage(listener: (data: any, from: string) => void): Unsubscribe;
    getParticipants(): Participant[];
    /**
     * @overload
     * @param {"participants"} event
     * @param {(people: Participant[]) => void} listener
     * @returns {Unsubscribe}
     */
    /**
     * @overload
     * @param {"refused"} event
     * @param {(refusal: Refusal) => void} listener
     * @returns {Unsubscribe}
     */
    /** @param {"participants" | "refused"} event @param {(told: any) => void} listener @returns {Unsubscribe} */
    on(event: "participants", listener: (people: Participant[]) => void): Unsubscribe;
    /**
     * @overload
     * @param {"participants"} event
     * @param {(people: Participant[]) => void} listener
     * @returns {Unsubscribe}
     */
    /**
     * @overload
     * @param {"refused"} event
     * @param {(refusal: Refusal) => void} listener
     * @returns {Unsubscribe}
     */
    /** @param {"participants" | "refused"} event @param {(told: any) => void} listener @returns {Unsubscribe} */
    on(event: "refused", listener: (refusal: Refusal) => void): Unsubscribe;
    getSchemas(): AppSchema[];
    /** @param {(schema: AppSchema) => void} listener */
    onSchema(listener: (schema: AppSchema) => void): Unsubscribe;
    /** @param {(lane: string, bytes: Uint8Array, from: string) => void} listener */
    onMedia(listener: (lane: string, bytes: Uint8Array, from: string) => void): Unsubscribe;
    /** The newest view of the app or the world that owns it. */
    getView(): any;
    /** The owner of the views: the room's world if there is a game, else the app that published first. */
    viewOwner(): string | null;
}
